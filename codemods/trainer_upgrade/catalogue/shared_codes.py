"""Codes that several entries carry, and why they do not have one each.

A code is what people select, suppress and look up. It stands for one change and one remedy, so names
share one where the change is the same; what no project of a sample of 174 uses shares one of its family.
"""

from __future__ import annotations

__all__ = ["SHARED"]

_ONE_HOOK = "the same hook before and after its event, or in every stage: one change, one rewrite"
_SAME_KIND = "one change and one remedy for all of them"
_RARE = "internals that no project of the sample uses"
_DATA = "one kind of move for very many paths; each path's own line says where it leads"

SHARED: dict[str, str] = {
    # hooks
    "TRU206": "0.x spellings of the epoch-end hooks, with the same rewrite",
    "TRU209": _ONE_HOOK,
    "TRU210": _ONE_HOOK,
    "TRU221": _ONE_HOOK,
    "TRU222": _ONE_HOOK,
    "TRU223": _ONE_HOOK,
    "TRU224": "epoch-end hooks that get no outputs any more",
    "TRU227": _ONE_HOOK,
    "TRU228": "log and log_dict take the same keywords",
    "TRU229": "two names, one after the other, of one hook",
    "TRU230": "the module's gradient norm, as a method and as a hook",
    "TRU231": _ONE_HOOK,
    "TRU232": "the model's summary and one figure of it",
    "TRU234": _ONE_HOOK,
    "TRU235": "manual optimization of 1.0",
    "TRU236": _ONE_HOOK,
    "TRU237": "attributes that the trainer has today, or names that only changed once",
    "TRU238": _RARE + ", or two at most",
    "TRU239": "kept names with another kind or meaning: nothing to rewrite, the advice differs",
    "TRU241": "attributes of the data module that one now keeps oneself",
    "TRU242": "flags of the data module that one now keeps oneself",
    "TRU243": _ONE_HOOK,
    "TRU246": _ONE_HOOK,
    "TRU248": "data hooks that are called without arguments",
    "TRU251": _RARE,
    "TRU260": _ONE_HOOK,
    "TRU270": _ONE_HOOK,
    "TRU271": _ONE_HOOK,
    "TRU277": _ONE_HOOK,
    "TRU278": _ONE_HOOK,
    # imports
    **dict.fromkeys(
        ("TRU300", "TRU301", "TRU302", "TRU303", "TRU304", "TRU305", "TRU306", "TRU308", "TRU309"), _DATA
    ),
    "TRU307": "one class by two paths",
    "TRU310": "all of pytorch_lightning.metrics went to one package",
    "TRU311": "the rank-zero helpers, by the many paths they could be had",
    "TRU312": "plugins that became strategies in one release",
    "TRU313": "one name by several paths",
    "TRU314": "loggers.base, by several paths",
    "TRU315": "the core classes, by the modules they were defined in",
    "TRU316": "loggers that are gone, by several paths",
    "TRU317": "the profiler package, renamed as a whole",
    "TRU318": "Lite, renamed as a whole",
    "TRU319": "callbacks that became one",
    "TRU320": "one class by several paths",
    "TRU321": "result objects of 0.9, by several paths",
    "TRU322": "the overrides package, gone as a whole",
    "TRU323": "one function by several paths",
    "TRU324": "utilities.cli, moved as a whole",
    "TRU325": "helpers that moved to Fabric or Lightning Utilities together",
    "TRU326": _SAME_KIND,
    "TRU327": "the argparse helpers, gone as a whole",
    "TRU328": "names that a module only happened to show because it imported them",
    "TRU330": "the loops, private or gone as a whole",
    "TRU331": "one class by two paths",
    "TRU332": "trainer.supporters, split as a whole",
    "TRU335": "one class by several paths",
    "TRU336": "the logging package, renamed as a whole",
    "TRU337": "decorators that are no longer needed",
    # attributes
    "TRU451": _ONE_HOOK,
    "TRU457": _SAME_KIND,
    "TRU461": "entry points: their arguments have codes of their own",
    "TRU462": "attributes that can only be read",
    "TRU463": "loops that cannot be replaced",
    "TRU490": _RARE,
    "TRU491": "methods that only called hooks",
    "TRU492": "renamed attributes that no project of the sample uses",
    "TRU493": "attributes with an expression in their place that no project of the sample uses",
    "TRU494": "connectors that no project of the sample uses",
    "TRU495": "attributes without a twin that no project of the sample uses",
    "TRU496": "attributes that can only be read",
    "TRU497": "flags about hardware and strategy",
    # entry points
    "TRU504": _SAME_KIND,
    "TRU511": _SAME_KIND,
    "TRU515": "arguments of 0.x",
    "TRU516": "arguments with another default or order",
    "TRU520": "arguments of one method that is gone",
    "TRU521": "arguments of two methods that went together",
    "TRU523": _RARE,
    "TRU530": "arguments of the argparse helpers, whose methods have codes of their own",
    "TRU531": "arguments of methods that have codes of their own",
    "TRU532": "arguments of one method that is gone",
    "TRU533": _RARE,
    # constructor arguments
    "TRU617": "hooks given as functions: the rewrite follows the hook",
    "TRU621": _SAME_KIND,
    **dict.fromkeys(
        ("TRU623", "TRU625", "TRU626", "TRU627", "TRU631", "TRU636", "TRU637", "TRU638", "TRU641"),
        "arguments of one class that no project of the sample uses",
    ),
    **dict.fromkeys(("TRU628", "TRU629", "TRU630", "TRU632", "TRU633", "TRU644", "TRU645"), _SAME_KIND),
    "TRU647": "arguments of the monitors that became DeviceStatsMonitor",
    "TRU690": "arguments that went along with a class to its new name, and are called the same",
    "TRU691": "arguments that a class lost with its new name",
    "TRU692": "arguments of plugins that the Trainer has",
    "TRU693": "arguments of classes that are gone",
    # values
    **dict.fromkeys(
        ("TRU701", "TRU702", "TRU712", "TRU713", "TRU714", "TRU715", "TRU720", "TRU722", "TRU723"), _SAME_KIND
    ),
    "TRU730": "the two bools",
    "TRU735": "the three values of one argument",
    # members of other classes
    **dict.fromkeys(
        ("TRU886", "TRU888", "TRU889", "TRU890", "TRU891", "TRU892", "TRU893"),
        "members of classes that few people subclass",
    ),
    "TRU895": "what a step returns or logs in 0.x style",
    # project files
    "TRU910": "environment variables that nobody reads",
}
