import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { sha256Of, type Digest } from '@countersign/contracts';
import { ConformanceVector } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, parsePlainJson, type CryptoProvider } from '@countersign/crypto';
import { z } from 'zod';

export type Vectors = { all: readonly ConformanceVector[]; hash: Digest };

/** The files of contracts/vectors/conformance. A test checks that none is missing here. */
export const vectorFiles = [
  'faults.json',
  'unavailable-facts.json',
  'doors.json',
  'controls.json',
  'approvals.json',
  'identity.json',
  'bounds.json',
] as const;

const locate = createRequire(import.meta.url);

/**
 * Throws when a file is not a list of vectors, or two vectors share an id, since the executed vectors would be
 * ambiguous.
 */
export function readVectors(provider: CryptoProvider): Vectors {
  const all = vectorFiles.flatMap((file) => z.array(ConformanceVector).parse(readJson(file)));
  if (new Set(all.map(({ id }) => id)).size !== all.length) throw new Error('Two conformance vectors share an id');
  const bytes = canonicalBytes(parsePlainJson(JSON.parse(JSON.stringify(all)))); // removes undefined members
  return { all, hash: sha256Of(provider, bytes) };
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(locate.resolve(`@countersign/contracts/vectors/conformance/${file}`), 'utf8'));
}
