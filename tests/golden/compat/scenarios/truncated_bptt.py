"""Truncated back-propagation through time."""
from scenario_kit import DataLoader, F, TensorDataset, finish, nn, pl, record, state_of, torch, trainer


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.truncated_bptt_steps = 2
        self.rnn = nn.LSTM(3, 5, batch_first=True)
        self.head = nn.Linear(5, 1)

    def training_step(self, batch, batch_idx, hiddens):
        x, y = batch
        record("step", batch_idx, list(x.shape), hiddens is None)
        out, hiddens = self.rnn(x, hiddens)
        loss = F.mse_loss(self.head(out), y)
        self.log("loss", loss)
        return {"loss": loss, "hiddens": hiddens}

    def training_epoch_end(self, outputs):
        record("training_epoch_end", outputs)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


pl.seed_everything(25)
x = torch.randn(4, 6, 3)
run = trainer()
run.fit(Model(), DataLoader(TensorDataset(x, x.sum(-1, keepdim=True)), batch_size=2))
state_of(run, "fit")
finish()
