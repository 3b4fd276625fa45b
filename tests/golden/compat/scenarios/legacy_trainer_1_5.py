"""Trainer arguments and attributes of 1.5."""
from scenario_kit import Base, Rows, data, finish, pl, record, state_of, torch


class Model(Base):
    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch))

    def test_step(self, batch, batch_idx):
        self.log("test_loss", self.loss(batch))

    def on_validation_start(self):
        record("sanity", self.trainer.sanity_checking)


pl.seed_everything(22)
run = pl.Trainer(
    logger=Rows(),
    checkpoint_callback=False,
    gpus=0,
    progress_bar_refresh_rate=0,
    weights_summary=None,
    max_epochs=2,
    terminate_on_nan=True,
    log_every_n_steps=1,
    flush_logs_every_n_steps=5,
    num_sanity_val_steps=1,
    prepare_data_per_node=True,
    stochastic_weight_avg=False,
    process_position=0,
    reload_dataloaders_every_n_epochs=1,
)
model = Model()
run.fit(model, train_dataloader=data(), val_dataloaders=data(8, seed=2))
record("attributes", run.gpus, run.num_gpus, run.root_gpu, run.data_parallel_device_ids, run.num_processes, run.num_nodes)
record("more", run.tpu_cores, len(run.lr_schedulers), run.max_epochs, run.world_size)
record("test", run.test(model, test_dataloaders=data(8, seed=3), verbose=False))
record("module", run.get_model() is model if hasattr(run, "get_model") else True)
state_of(run, "fit")
finish()
