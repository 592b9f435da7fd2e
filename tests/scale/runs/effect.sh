# An effect is a line of a file, as the tools of docs/recipes/restate/shop.mjs write it.
printf '%s %s %s\n' "$SEAMGATE_TOOL" "$(tr -dc 0-9)" "$SEAMGATE_IDEMPOTENCY_KEY" >> "$EFFECTS" && printf '{"%s":true}\n' "$1"
