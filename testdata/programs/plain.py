"""An interpreter that has just started and runs nothing: the background that every core holds."""

import truth

truth.record()
