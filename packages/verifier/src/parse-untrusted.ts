import { parsePlainJson } from '@countersign/crypto';
import { VerificationError } from './verification-error.ts';

type Schema<Value> = {
  safeParse: (
    value: unknown,
  ) =>
    { success: true; data: Value } | { success: false; error: { issues: { path: PropertyKey[]; message: string }[] } };
};

/** Attacker-controlled in, typed plain JSON out. Throws {@link VerificationError} `MALFORMED` naming the member. */
export function parseUntrusted<Value>(schema: Schema<Value>, value: unknown, what: string): Value {
  const parsed = schema.safeParse(plain(value, what));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new VerificationError(
    'MALFORMED',
    `${what}: ${issue?.message ?? 'malformed'} at /${issue?.path.map(String).join('/') ?? ''}`,
  );
}

// Accessors, holes and foreign prototypes could show the schema one value and the hash another.
function plain(value: unknown, what: string): unknown {
  try {
    return parsePlainJson(value);
  } catch (error) {
    throw new VerificationError('MALFORMED', `${what}: ${error instanceof Error ? error.message : 'not plain JSON'}`);
  }
}
