#!/usr/bin/env bash
# Puts `seamgate` on the path of the later steps: the command line of a release, if `SHA256SUMS` beside this file has its
# digest. Otherwise builds it from the source that this file belongs to.
#
# VERSION      the version, `source` to build it, or nothing: then the newest one that has a digest
# RELEASES     the address of the releases
# ACTION       the folder of the action
set -euo pipefail

# Larger than any command line. Nothing larger is downloaded.
readonly MOST_BYTES=$((256 * 1024 * 1024))
readonly DIGESTS="$ACTION/.github/action/SHA256SUMS"

fail() {
  echo "::error title=seamgate::$1"
  exit 1
}

build() {
  echo "seamgate: $1: building it, which takes several minutes"
  cd "$ACTION"
  cargo run --locked --profile xtask --package xtask -- build
  echo "$ACTION/target/release" >> "$GITHUB_PATH"
  exit 0
}

sha256() {
  if command -v sha256sum > /dev/null; then sha256sum -- "$1"; else shasum -a 256 -- "$1"; fi | cut -c1-64
}

if [ -z "$VERSION" ] && command -v seamgate; then
  exit 0
fi
if [ "$VERSION" = source ]; then
  build "the version is source"
fi

case "$RUNNER_OS-$RUNNER_ARCH" in
  Linux-X64) platform=x86_64-linux ;;
  Linux-ARM64) platform=aarch64-linux ;;
  macOS-X64) platform=x86_64-macos ;;
  macOS-ARM64) platform=aarch64-macos ;;
  Windows-X64) platform=x86_64-windows ;;
  *) platform=none ;;
esac
case "$platform" in
  *-linux) ending="" program=seamgate ;;
  *-windows) ending=.zip program=seamgate.exe ;;
  *) ending=.zip program=seamgate ;;
esac

# Each release adds its lines at the end.
known="$(sed -n "s/^[0-9a-f]\{64\}  seamgate-\(.*\)-$platform$ending\$/\1/p" "$DIGESTS")"
known="${known//$'\n'/ }"
if [ -z "$VERSION" ]; then
  version="${known##* }"
  [ -n "$version" ] || build "no release for $RUNNER_OS on $RUNNER_ARCH has a digest in this version of the action"
else
  version="${VERSION#v}"
  case "$version" in
    *[!0-9A-Za-z.+-]*) fail "the input 'version' is no version. Use one such as 0.1.0, or 'source'" ;;
  esac
  if [[ " $known " != *" $version "* ]]; then
    fail "this version of the action has no digest of seamgate $version for $RUNNER_OS on $RUNNER_ARCH, only of: \
${known:-none}. Use one of these, a newer version of the action, or 'version: source'"
  fi
fi
name="seamgate-$version-$platform"
file="$name$ending"
digest="$(awk -v file="$file" '$2 == file { print $1 }' "$DIGESTS")"
address="$RELEASES/download/v$version/$file"

folder="$RUNNER_TEMP/$name"
mkdir -p "$folder"
cd "$folder"
curl --fail --silent --show-error --location --retry 3 --connect-timeout 20 --max-time 300 \
  --max-filesize "$MOST_BYTES" --output "$file" "$address" ||
  fail "cannot download $address. Try again, or use 'version: source'"
found="$(sha256 "$file")"
if [ "$found" != "$digest" ]; then
  rm -f -- "$file"
  fail "$address has the SHA-256 digest $found, and the action expects $digest. Do not use this file, and tell \
the maintainers"
fi
if [ -n "$ending" ]; then
  unzip -q -o "$file"
  mv -f "$name/$program" "$program"
else
  mv -f "$file" "$program"
fi
chmod +x "$program"
echo "seamgate: $file, $digest"
echo "$folder" >> "$GITHUB_PATH"
