import { encodeBase64, formatCheckpoint, formatSubmission, formatVkey, noteKey, signNote } from '@countersign/crypto';
import { nodeProvider as provider } from '@countersign/crypto/node';
import { createSigner } from '@countersign/crypto/signing';
import { naiveConsistency, naiveRoot } from '../../crypto/tests/naive-merkle.ts';

const signer = createSigner(new Uint8Array(32).fill(3));

/** A log with two branches that share their first two entries. Its operator can sign both. */
export class SignedLog {
  readonly origin: string;
  readonly vkey: string;

  constructor(origin = 'log.example/a') {
    this.origin = origin;
    this.vkey = formatVkey(noteKey(provider, origin, signer.publicKey));
  }

  note(size: number, branch = 'a', time?: string): string {
    const root = Uint8Array.from(naiveRoot(entriesOf(size, branch)));
    const text = formatCheckpoint({ origin: this.origin, size, root, ...(time === undefined ? {} : { time }) });
    return signNote(provider, text, [{ name: this.origin, signer }]);
  }

  /** The body of `add-checkpoint`. */
  submission(old: number, size: number, branch = 'a'): string {
    const proof = old === 0 ? [] : naiveConsistency(old, entriesOf(size, branch)).map((hash) => encodeBase64(hash));
    return formatSubmission({ old, proof, note: this.note(size, branch) });
  }
}

function entriesOf(size: number, branch: string): Uint8Array[] {
  return Array.from({ length: size }, (_, at) => Buffer.from(at < 2 ? `entry ${at}` : `entry ${at} of ${branch}`));
}
