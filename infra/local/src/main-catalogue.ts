import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { shippedConnectors } from '@countersign/control-plane';
import { problemText } from '@countersign/service-kit';
import { writeCatalogue } from './own-catalogue.ts';

const usage = 'Usage: make catalogue key=PRIVATE_KEY.pem out=CATALOGUE.json [from=CONNECTORS.json]\n';

try {
  const { values } = parseArgs({
    options: { key: { type: 'string' }, out: { type: 'string' }, from: { type: 'string' } },
  });
  const { key, out, from } = values;
  if (key === undefined || out === undefined) throw new Error('Name the key and the file');
  const connectors: unknown = from === undefined ? shippedConnectors() : JSON.parse(readFileSync(from, 'utf8'));
  const { path, publicKey } = writeCatalogue(out, connectors, readFileSync(key, 'utf8'));
  process.stdout.write(`GOV_CONNECTOR_CATALOGUE=${path}\nGOV_CATALOGUE_KEYS=${publicKey}\n`);
} catch (error) {
  process.stderr.write(`${problemText(error)}\n${usage}`);
  process.exitCode = 1;
}
