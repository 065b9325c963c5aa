import { AppError, type ErrorCode } from '@countersign/contracts';
import { parseStrictJson } from '@countersign/crypto';

/** Far beyond any honest request and far below a stack overflow. */
const depthMax = 64;

const parserCodes: Record<string, ErrorCode> = {
  MALFORMED_JSON: 'MALFORMED_JSON',
  INVALID_UTF8: 'MALFORMED_JSON',
  DUPLICATE_MEMBER: 'DUPLICATE_MEMBER',
  LONE_SURROGATE: 'LONE_SURROGATE',
  NUMBER_OUT_OF_RANGE: 'NUMBER_OUT_OF_RANGE',
  NESTING_TOO_DEEP: 'NESTING_TOO_DEEP',
  TOO_LARGE: 'PAYLOAD_TOO_LARGE',
};

/**
 * Attacker-controlled bytes to one plain JSON value. A member named `__proto__` is refused at any depth: schemas would drop it
 * silently, and what is dropped is not what the caller meant.
 */
export function parseJsonBody(bytes: Buffer, bytesMax: number): unknown {
  const value = parseStrictly(bytes, bytesMax);
  // The name can only occur literally or with an escape of an ASCII letter; honest bodies rarely hold either.
  const path = bytes.includes('__proto__') || bytes.includes('\\u00') ? protoPath(value, []) : null;
  if (path !== null)
    throw new AppError('UNKNOWN_MEMBER', 'A member may not be named __proto__', { param: path.join('.') });
  return value;
}

function parseStrictly(bytes: Uint8Array, bytesMax: number): unknown {
  try {
    return parseStrictJson(bytes, { depthMax, bytesMax });
  } catch (error) {
    throw bodyError(error);
  }
}

function bodyError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const code = parserCodes[String(error.code)];
  if (code === undefined) return error;
  const path = 'path' in error && typeof error.path === 'string' && error.path !== '' ? error.path : null;
  return new AppError(code, `The body was refused: ${error.message}`, path === null ? {} : { param: dotted(path) });
}

/** JSON Pointer (RFC 6901) as the dotted path of the error envelope. */
function dotted(pointer: string): string {
  const steps = pointer.slice(1).split('/');
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}

function protoPath(value: unknown, path: (string | number)[]): (string | number)[] | null {
  if (typeof value !== 'object' || value === null) return null;
  if (!Array.isArray(value) && Object.hasOwn(value, '__proto__')) return [...path, '__proto__'];
  for (const [name, member] of Object.entries(value)) {
    const found = typeof member === 'object' ? protoPath(member, [...path, name]) : null;
    if (found !== null) return found;
  }
  return null;
}
