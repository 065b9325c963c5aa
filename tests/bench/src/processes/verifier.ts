// Verifies a pack with the published command, or bare signatures, and answers with its CPU time and its peak memory.
import { readFileSync } from 'node:fs';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { runCli } from '@countersign/verifier/run-cli';

/** About the length of the signed text of a receipt. */
const messageBytes = 1_000;

type Work = { signatures: number } | { pack: string; keys: string };
export type Verified = { seconds: number; cpuSeconds: number; peakMib: number };

process.on('message', (work: Work) => void answer(work));
process.once('disconnect', () => process.exit());
process.send?.({ url: '' });

async function answer(work: Work): Promise<void> {
  try {
    process.send?.({ result: 'pack' in work ? await measured(() => verifyPack(work)) : await verifySignatures(work) });
  } catch (error) {
    process.send?.({ error: String(error) });
  }
}

async function measured(work: () => Promise<void> | void): Promise<Verified> {
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - startedAt) / 1_000;
  return { seconds, cpuSeconds: (user + system) / 1e6, peakMib: peakMib() };
}

async function verifyPack({ pack, keys }: { pack: string; keys: string }): Promise<void> {
  let report = '';
  const write = (text: string) => void (report += text);
  const status = await runCli([pack, '--keys', keys], { write, stdin: process.stdin });
  if (status !== 0) throw new Error(`The pack does not verify: ${report}`);
}

function verifySignatures({ signatures }: { signatures: number }): Promise<Verified> {
  const signer = createSigner(generateSigningKey().privateKeyPem);
  const message = new Uint8Array(messageBytes).fill(97);
  const signature = signer.sign(message);
  return measured(() => {
    for (let nth = 0; nth < signatures; nth += 1)
      if (!nodeProvider.verifyEd25519(signer.publicKey, message, signature)) throw new Error('The signature is wrong');
  });
}

/** The largest resident size of this process. */
function peakMib(): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  return Number(kib) / 1_024;
}
