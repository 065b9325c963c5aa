import { AppError, type ErrorCode } from '@countersign/contracts';
import { parseStrictJson } from '@countersign/crypto';

/** Far beyond any honest request and far below a stack overflow. */
const depthMax = 64;

const parserCodes: Record<string, ErrorCode> = {
  MALFORMED_JSON: 'MALFORMED_JSON',
  INVALID_UTF8: 'MALFORMED_JSON',
  DUPLICATE_MEMBER: 'DUPLICATE_MEMBER',
  FORBIDDEN_MEMBER: 'UNKNOWN_MEMBER',
  LONE_SURROGATE: 'LONE_SURROGATE',
  NUMBER_OUT_OF_RANGE: 'NUMBER_OUT_OF_RANGE',
  NESTING_TOO_DEEP: 'NESTING_TOO_DEEP',
  TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  TOO_MANY_VALUES: 'PAYLOAD_TOO_LARGE',
};

/** Parses attacker-controlled bytes to one plain JSON value. */
export function parseJsonBody(bytes: Uint8Array, limits: { bytesMax: number; valuesMax: number }): unknown {
  try {
    return parseStrictJson(bytes, { depthMax, ...limits });
  } catch (error) {
    throw bodyError(error);
  }
}

function bodyError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const code = parserCodes[String(error.code)];
  if (code === undefined) return error;
  const path = 'path' in error && typeof error.path === 'string' && error.path !== '' ? error.path : null;
  return new AppError(code, `The body is not valid: ${error.message}`, path === null ? {} : { param: dotted(path) });
}

/** Converts a JSON Pointer (RFC 6901) to the dotted path of the error envelope. */
function dotted(pointer: string): string {
  const steps = pointer.slice(1).split('/');
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}
