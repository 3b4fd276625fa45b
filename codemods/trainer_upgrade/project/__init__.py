"""What the user's project is: files, imports, class hierarchy across files, where Trainers are built and used."""
