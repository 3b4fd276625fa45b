"""Clipping by norm and value, accumulation by number and by schedule."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


for arguments in (
    {"gradient_clip_val": 0.05},
    {"gradient_clip_val": 0.01, "gradient_clip_algorithm": "value"},
    {"accumulate_grad_batches": 4, "gradient_clip_val": 0.1},
    {"accumulate_grad_batches": {0: 1, 1: 3}},
):
    pl.seed_everything(1)
    run = trainer(max_epochs=3, **arguments)
    run.fit(Base(), data(20, shuffle=True))
    state_of(run, str(sorted(map(str, arguments.items()))))
finish()
