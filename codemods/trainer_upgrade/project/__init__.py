"""What the user's project is: files, imports, classes across files, where Trainers are built and used."""
