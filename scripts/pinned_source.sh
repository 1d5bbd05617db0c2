#!/usr/bin/env bash
# Unpacks a pinned archive of sources into a new folder, without the folder that holds all in it.
# The archive must have the sum; it doesn't stay.
# usage: scripts/pinned_source.sh URL SHA256 FOLDER
set -euo pipefail
exec </dev/null

url=$1 sha256=$2 folder=$3
archive=$folder.archive
rm -rf "$folder.unpacking"
mkdir -p "$folder.unpacking"
python3 -c 'import sys, urllib.request; urllib.request.urlretrieve(sys.argv[1], sys.argv[2])' "$url" "$archive"
echo "$sha256  $archive" | sha256sum --check --quiet
tar -xzf "$archive" -C "$folder.unpacking" --strip-components 1
mv "$folder.unpacking" "$folder"
rm "$archive"
