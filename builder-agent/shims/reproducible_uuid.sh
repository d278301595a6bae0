# Read by the shims of mkfs.

# reproducible_uuid WHAT ARGUMENT…: a UUID that is the same whenever the same input is built, and another one for each file system of an
# image, which the label and the device among the arguments of mkfs tell apart
reproducible_uuid() {
  what=$1
  shift
  label=
  device=
  previous=
  for word; do
    [ "$previous" != -L ] || label=$word
    case "$word" in
      # A partition or a volume; which loop device it is on is chance.
      /dev/*) device=$(printf '%s' "$word" | sed 's/loop[0-9]*/loop/') ;;
    esac
    previous=$word
  done
  # RFC 9562 §5.8: version 8, of one's own making
  printf '%s' "$KILN_REPRODUCIBLE_SEED $what $label $device" |
    sha256sum | sed -E 's/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/\1-\2-8\3-a\4-\5/'
}
