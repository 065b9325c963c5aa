export type JsonValue = null | boolean | number | string | JsonValue[] | { [member: string]: JsonValue };

/** Maximum depth of a value. 64 is far more than real documents need, and far below a stack overflow. */
export const jsonDepthMax = 64;

/**
 * An assignment to this member sets the prototype, and schema libraries drop it. Two readers would hash different
 * values.
 */
export const forbiddenMember = '__proto__';

/** RFC 6901 pointer to the member at the end of these steps. */
export function jsonPointer(steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
