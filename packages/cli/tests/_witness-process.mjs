/**
 * Runs the built `countersign witness`, and kills it at the moment `DIE_AT`. `DIE_AT` is a step of writing the state,
 * `judged` (before the write), or `cosigned` (between the write and the answer).
 */
import process from 'node:process';
import { parseVkey } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { serveWitness } from '../dist/witness/serve-witness.js';
import { openWitnessFolder } from '../dist/witness/witness-folder.js';
import { Witness } from '../dist/witness/witness.js';

const [path = '', log = ''] = process.argv.slice(2);
const { DIE_AT: dieAt } = process.env;
const at = (step) => {
  if (step === dieAt) process.kill(process.pid, 'SIGKILL');
};
const opened = await openWitnessFolder({ path, name: 'witness.example/w1', onStep: at });
const save = async (heads) => {
  at('judged');
  await opened.save(heads);
  at('cosigned');
};
const witness = new Witness({
  folder: { ...opened, save },
  logs: [parseVkey(nodeProvider, log)],
  clock: () => new Date(),
  onFork: () => Promise.resolve(),
});
const limits = { limit: 1_000, trustedProxies: 0 };
const { url } = await serveWitness(witness, { ...limits, host: '127.0.0.1', port: 0, onError: () => undefined });
process.stdout.write(`${url}\n`);
