"""The argparse helpers of the Trainer and of data modules."""
from argparse import ArgumentParser, Namespace

from scenario_kit import Base, data, finish, pl, record, state_of, trainer, Rows


class Data(pl.LightningDataModule):
    def __init__(self, batch_size: int = 4, name: str = "x", flag: bool = False):
        super().__init__()
        self.batch_size, self.name, self.flag = batch_size, name, flag

    def train_dataloader(self):
        return data(batch_size=self.batch_size)


pl.seed_everything(17)
parser = ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser = pl.Trainer.add_argparse_args(parser)
parser = Data.add_argparse_args(parser)
args = parser.parse_args(
    "--max_epochs 3 --limit_train_batches 2 --lr 0.05 --accumulate_grad_batches 2 --val_check_interval 0.5 "
    "--enable_progress_bar false --enable_model_summary no --enable_checkpointing 0 --batch_size 8 --flag "
    "--gradient_clip_val 0.5 --default_root_dir . --log_every_n_steps 1 --overfit_batches 0".split()
)
shown = ["max_epochs", "limit_train_batches", "accumulate_grad_batches", "val_check_interval", "enable_progress_bar",
         "enable_model_summary", "enable_checkpointing", "batch_size", "name", "flag", "gradient_clip_val",
         "logger", "limit_val_batches", "fast_dev_run", "num_nodes", "max_steps", "min_epochs", "overfit_batches"]
record("args", {name: getattr(args, name) for name in shown})
run = pl.Trainer.from_argparse_args(args, logger=Rows())
module = Data.from_argparse_args(args)
record("module", module.batch_size, module.name, module.flag)
run.fit(Base(lr=args.lr), module)
record("run", run.max_epochs, run.num_training_batches, run.accumulate_grad_batches, run.gradient_clip_val)
state_of(run, "fit")
record("defaults", {key: value for key, value in pl.Trainer.default_attributes().items() if key in ("max_epochs", "num_nodes", "fast_dev_run")})
args = parser.parse_args(["--fast_dev_run", "true", "--limit_train_batches", "0.5"])
record("types", args.fast_dev_run, args.limit_train_batches, type(args.limit_train_batches).__name__)
args = parser.parse_args(["--fast_dev_run", "3"])
record("types", args.fast_dev_run, type(args.fast_dev_run).__name__)
args = parser.parse_args(["--fast_dev_run"])
record("flag", args.fast_dev_run)
args = pl.Trainer.parse_argparser(Namespace(fast_dev_run=True, deterministic="", max_epochs="3"))
record("parsed", args.fast_dev_run, args.max_epochs)
finish()
