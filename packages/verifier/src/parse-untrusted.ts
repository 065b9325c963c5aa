import { parsePlainJson } from '@countersign/crypto';
import { VerificationError } from './verification-error.ts';

type Schema<Value> = {
  safeParse: (
    value: unknown,
  ) => { success: true } | { success: false; error: { issues: { path: PropertyKey[]; message: string }[] } };
  _zod: { output: Value };
};

/** More than any list that a kernel writes. A schema library makes issues for each wrong item, until memory is gone. */
const itemsMax = 50_000;

/**
 * Attacker-controlled in, typed plain JSON out: the very value that was given, since what a schema library returns is a copy without
 * the members that it did not see. Throws {@link VerificationError} `MALFORMED` naming the member.
 */
export function parseUntrusted<Value>(schema: Schema<Value>, value: unknown, what: string): Value {
  const received = plain(value, what);
  assertBounded(received, what);
  const parsed = schema.safeParse(received);
  if (parsed.success) return received as Value; // the schema has just seen it, and defines no other output
  const [issue] = parsed.error.issues;
  throw new VerificationError(
    'MALFORMED',
    `${what}: ${issue?.message ?? 'malformed'} at /${issue?.path.map(String).join('/') ?? ''}`,
  );
}

// Holes, symbols and foreign prototypes could show the schema one value and the hash another. A getter is code of the caller, not of the export.
function plain(value: unknown, what: string): unknown {
  try {
    return parsePlainJson(value);
  } catch (error) {
    throw new VerificationError('MALFORMED', `${what}: ${error instanceof Error ? error.message : 'not plain JSON'}`);
  }
}

/** Facts are free: their shape is whatever the policy read, and no schema looks at it. */
function assertBounded(value: unknown, what: string): void {
  if (typeof value !== 'object' || value === null) return;
  const items = Object.entries(value);
  if (items.length > itemsMax)
    throw new VerificationError('MALFORMED', `${what}: a list or object has more than ${itemsMax} items`);
  for (const [name, item] of items) if (name !== 'facts') assertBounded(item, what);
}
