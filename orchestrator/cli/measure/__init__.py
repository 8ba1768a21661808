"""Commands that plan, build and measure."""
