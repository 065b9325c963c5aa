const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `Countersign needs Node 20.19 or newer; this is ${process.versions.node}. Get one at nodejs.org.\n`,
  );
  process.exit(1);
}
