"""Precisions that a CPU knows, and scaled gradients."""

import torch


def _plugin(h, scaler):
    if h.is_relight:
        from lightning_fabric.plugins import MixedPrecision
    else:
        from lightning.pytorch.plugins import MixedPrecision
    return MixedPrecision("16-mixed", device="cpu", scaler=scaler)


def _fit(h, precision, **trainer):
    def training_step(self, batch, batch_idx):
        x, y = batch
        out = self(x)
        h.note("types", [str(out.dtype), str(x.dtype), str(next(self.parameters()).dtype)])
        loss = torch.nn.functional.cross_entropy(out, y)
        h.losses.append(loss.item().hex())
        self.log("loss", loss, on_epoch=True, on_step=True)
        return loss

    module = h.net(training_step=training_step)()
    fitted = h.trainer(max_epochs=2, precision=precision, **trainer)
    fitted.fit(module, h.loader(12), h.loader(6, seed=4))
    h.results["precision"] = fitted.precision
    h.results["test"] = fitted.test(module, h.loader(6, seed=5), verbose=False)
    h.results["predict"] = fitted.predict(module, h.loader(6, seed=5))


def precision_32(h):
    _fit(h, "32-true")


def precision_64(h):
    _fit(h, "64-true", gradient_clip_val=0.1)


def precision_bf16_mixed(h):
    _fit(h, "bf16-mixed", accumulate_grad_batches=2)


def precision_bf16_true(h):
    _fit(h, "bf16-true", gradient_clip_val=0.1)


def precision_16_true(h):
    _fit(h, "16-true")


def precision_16_mixed_without_gpu(h):
    _fit(h, "16-mixed")  # becomes bf16-mixed


def _scaled(h, manual=False, **trainer):
    """Gradients scaled by 2^16 at first; one batch overflows, so its step is skipped and the scale halved."""
    scaler = torch.amp.GradScaler("cpu", growth_interval=3)
    seen = []

    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        if batch_idx == 1 and self.current_epoch == 0:
            loss = loss * 3e38
        seen.append(scaler.get_scale())
        if manual:
            optimizer = self.optimizers()
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()
        return loss

    def on_before_optimizer_step(self, optimizer):
        norms = [p.grad.norm().item().hex() for p in self.parameters()]
        h.note("gradients", norms)  # unscaled by now

    module = h.net(
        training_step=training_step, on_before_optimizer_step=on_before_optimizer_step,
        automatic_optimization=not manual,
    )()  # fmt: skip
    fitted = h.trainer(max_epochs=2, plugins=[_plugin(h, scaler)], **trainer)
    fitted.fit(module, h.loader(22))
    h.results["scales"] = seen
    h.results["scaler"] = scaler.state_dict()
    h.results["nonfinite"] = [not bool(p.isfinite().all()) for p in module.parameters()]
    fitted.save_checkpoint(h.dir / "scaled.ckpt")


def scaler(h):
    _scaled(h)


def scaler_clipping_by_norm(h):
    _scaled(h, gradient_clip_val=0.05)


def scaler_clipping_by_value_and_accumulation(h):
    _scaled(h, gradient_clip_val=0.02, gradient_clip_algorithm="value", accumulate_grad_batches=2)


def scaler_manual(h):
    _scaled(h, manual=True)


def scaler_skipped_batch(h):
    """A step that returns ``None`` steps neither optimizer nor scaler."""
    scaler = torch.amp.GradScaler("cpu", growth_interval=2)

    def training_step(self, batch, batch_idx):
        h.note("scale", [scaler.get_scale()])
        return None if batch_idx % 2 else self.loss(batch)

    h.trainer(max_epochs=1, plugins=[_plugin(h, scaler)]).fit(h.net(training_step=training_step)(), h.loader(22))


SCENARIOS = {
    function.__name__: function
    for function in (
        precision_32, precision_64, precision_bf16_mixed, precision_bf16_true, precision_16_true,
        precision_16_mixed_without_gpu, scaler, scaler_clipping_by_norm, scaler_clipping_by_value_and_accumulation,
        scaler_manual, scaler_skipped_batch,
    )
}  # fmt: skip
