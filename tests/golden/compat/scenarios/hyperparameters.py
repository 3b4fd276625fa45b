"""save_hyperparameters in its forms, and load_from_checkpoint."""
from scenario_kit import Base, data, finish, pl, record, state_of, torch, trainer


from argparse import Namespace


class Keyword(Base):
    def __init__(self, width=4, lr=0.2, **more):
        super().__init__(width, lr)
        self.save_hyperparameters()


class Chosen(Base):
    def __init__(self, width=4, lr=0.2, ignored=None):
        super().__init__(width, lr)
        self.save_hyperparameters("width", "lr")


class Spaces(Base):
    def __init__(self, conf):
        conf = Namespace(**conf) if isinstance(conf, dict) else conf
        super().__init__(conf.width, conf.lr)
        self.save_hyperparameters(conf)


class Without(Base):
    def __init__(self, width=4, ignored=3):
        super().__init__(width)
        self.save_hyperparameters(ignore=["ignored"])


pl.seed_everything(16)
for model in (Keyword(6, extra="x"), Chosen(5, ignored=1), Spaces(Namespace(width=3, lr=0.5)), Without(7)):
    name = type(model).__name__
    pl.seed_everything(16)
    record(name, dict(model.hparams), dict(model.hparams_initial))
    run = trainer(max_epochs=1)
    run.fit(model, data(8))
    run.save_checkpoint(name + ".ckpt")
    again = type(model).load_from_checkpoint(name + ".ckpt")
    record("again", dict(again.hparams), [list(p.shape) for p in again.parameters()])
    state_of(run, name)
record("override", dict(Keyword.load_from_checkpoint("Keyword.ckpt", lr=0.7).hparams))
finish()
