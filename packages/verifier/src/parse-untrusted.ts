import { parsePlainJson } from '@countersign/crypto';
import { VerificationError } from './verification-error.ts';

type Schema<Value> = {
  safeParse: (
    value: unknown,
  ) => { success: true } | { success: false; error: { issues: { path: PropertyKey[]; message: string }[] } };
  _zod: { output: Value };
};

/**
 * More than any list that a kernel writes. A schema library creates an issue for each wrong item, without a limit on
 * memory.
 */
const itemsMax = 50_000;

/**
 * Parses an attacker-controlled value to typed plain JSON. Returns the given value itself, since a schema library
 * returns a copy without unknown members. Throws {@link VerificationError} `MALFORMED` with the name of the member.
 */
export function parseUntrusted<Value>(schema: Schema<Value>, value: unknown, what: string): Value {
  const received = plain(value, what);
  assertBounded(received, what);
  const parsed = schema.safeParse(received);
  if (parsed.success) return received as Value; // the schema has just checked it, and defines no other output
  const [issue] = parsed.error.issues;
  throw new VerificationError(
    'MALFORMED',
    `${what}: ${issue?.message ?? 'malformed'} at /${issue?.path.map(String).join('/') ?? ''}`,
  );
}

// Holes, symbols and foreign prototypes could show the schema one value and the hash another. Getters are not rejected:
// an export cannot contain them, only objects of the caller's own code can.
function plain(value: unknown, what: string): unknown {
  try {
    return parsePlainJson(value);
  } catch (error) {
    throw new VerificationError('MALFORMED', `${what}: ${error instanceof Error ? error.message : 'not plain JSON'}`);
  }
}

/** The items of `facts` are not counted, because no schema checks them. Their shape depends on what the policy read. */
function assertBounded(value: unknown, what: string): void {
  if (typeof value !== 'object' || value === null) return;
  const items = Object.entries(value);
  if (items.length > itemsMax)
    throw new VerificationError('MALFORMED', `${what}: a list or object has more than ${itemsMax} items`);
  for (const [name, item] of items) if (name !== 'facts') assertBounded(item, what);
}
