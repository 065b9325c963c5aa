import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { getInclusionProof, getReceipt, type StoredReceipt } from '@countersign/contracts/governance-kernel';
import { CryptoError } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { receiptTlogProof, VerificationError } from '@countersign/verifier';
import { CommandFailed } from '../command-failed.ts';
import { configFrom } from '../config.ts';
import { answered, connect } from '../connection/connection.ts';
import type { Io } from '../io.ts';

type ProofOptions = { file?: string };

/** Adds `countersign evidence proof`, which writes a C2SP tlog-proof that verifiers of other projects can read. */
export function addReceiptProof(evidence: Command, io: Io): void {
  evidence
    .command('proof')
    .description('Write a receipt with the proof that it is in the log, as one C2SP tlog-proof.')
    .argument('<receipt_id>')
    .option('--file <path>', 'write to this new file instead of the standard output, such as receipt.tlog-proof')
    .action((id: string, options: ProofOptions) => writeProof(id, options, io));
}

async function writeProof(id: string, { file }: ProofOptions, io: Io): Promise<void> {
  const connection = await connect(configFrom(io.env));
  const client = connection.ask({ getInclusionProof, getReceipt });
  const params = { receipt_id: id } as never; // the server validates it
  const receipt = await answered(connection, () => client.getReceipt({ params }));
  const proof = await answered(connection, () => client.getInclusionProof({ query: params }));
  const text = proofText(receipt, { ...proof, checkpoint: proof.checkpoint.note });
  if (file === undefined) return io.write(text);
  await writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailed(error.code === 'EEXIST' ? `${file} exists. Name a new file` : error.message, 2);
  });
  io.tell(`${file}\n`);
}

/** Throws CommandFailed for a proof that does not lead to the root. */
function proofText(receipt: StoredReceipt, inclusion: Parameters<typeof receiptTlogProof>[1]): string {
  try {
    return receiptTlogProof(receipt, inclusion, nodeProvider);
  } catch (cause) {
    if (!(cause instanceof VerificationError || cause instanceof CryptoError)) throw cause;
    throw new CommandFailed(`The server returned a proof that does not verify: ${cause.message}`, 1, { cause });
  }
}
