export type JsonValue = null | boolean | number | string | JsonValue[] | { [member: string]: JsonValue };

/** Deeper values are refused: 64 is far beyond any honest document and far below a stack overflow. */
export const jsonDepthMax = 64;

/** Assigned, it sets a prototype; parsed by a schema, it vanishes. Two readers would hash different values. */
export const forbiddenMember = '__proto__';

/** RFC 6901 pointer to the member reached by these steps. */
export function jsonPointer(steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
