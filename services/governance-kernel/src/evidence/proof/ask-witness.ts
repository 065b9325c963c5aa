import { startDeadline } from '@countersign/contracts';
import { formatSubmission, openCosignatures, splitNote, type CryptoProvider, type NoteKey } from '@countersign/crypto';

/** `url`: the address of the witness, to which `/add-checkpoint` is appended. */
export type Witness = { url: string; key: NoteKey };

type Submission = { note: string; /** The last size the witness cosigned. */ old: number; proof: readonly string[] };

export type WitnessAnswer =
  | { kind: 'cosigned'; line: string; signedAt: Date }
  /** The witness last cosigned a tree of this size. */
  | { kind: 'size'; size: number }
  /** The proof does not lead from the witness's tree to this checkpoint. */
  | { kind: 'inconsistent' }
  | { kind: 'refused'; problem: string };

/** The limit of an answer. A size has a few digits, and a cosignature a few hundred bytes. */
const answerBytesMax = 65_536;
const timeoutMs = 10_000;

/** Submits a checkpoint to a witness (C2SP tlog-witness). Rejects when it is unreachable. Its answer is not trusted. */
export async function askWitness(
  { url, key }: Witness,
  { note, old, proof }: Submission,
  { provider, signal }: { provider: CryptoProvider; signal: AbortSignal },
): Promise<WitnessAnswer> {
  const deadline = startDeadline({ ms: timeoutMs, signal });
  try {
    const answer = await fetch(`${url}/add-checkpoint`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: formatSubmission({ old, proof, note }),
      redirect: 'error',
      signal: deadline.signal,
    });
    const text = await boundedText(answer);
    if (answer.status === 409 && /^(?:0|[1-9][0-9]{0,14})\n$/.test(text)) return { kind: 'size', size: Number(text) };
    if (answer.status === 422) return { kind: 'inconsistent' };
    if (answer.status !== 200) return { kind: 'refused', problem: `it answered ${answer.status}` };
    return cosignatureIn(text, { note, key, provider });
  } finally {
    deadline.clear();
  }
}

/** The cosignature of this witness on this note. */
function cosignatureIn(
  text: string,
  { note, key, provider }: { note: string; key: NoteKey; provider: CryptoProvider },
): WitnessAnswer {
  try {
    const [opened] = openCosignatures(provider, `${note}${text}`, [key]);
    if (opened === undefined) return { kind: 'refused', problem: 'it answered without a cosignature of its key' };
    const named = text.split('\n').find((line) => line.startsWith(`— ${key.name} `) && isOf(line, { note, key }));
    if (named === undefined) return { kind: 'refused', problem: 'its cosignature was on the note already' };
    return { kind: 'cosigned', line: `${named}\n`, signedAt: new Date(opened.seconds * 1_000) };
  } catch (error) {
    return { kind: 'refused', problem: error instanceof Error ? error.message : 'its answer is not a cosignature' };
  }
}

function isOf(line: string, { note, key }: { note: string; key: NoteKey }): boolean {
  const text = `${note.slice(0, note.lastIndexOf('\n\n') + 2)}${line}\n`;
  return splitNote(text).signatures.some(({ keyId }) => keyId === key.keyId);
}

async function boundedText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw new Error(`The witness answered more than ${answerBytesMax} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
}
