import type { ErrorObject } from 'ajv';

/** The maximum length of a name from a schema. The schema may come from a hostile server, and reasons are sealed. */
const nameLengthMax = 100;

/** Keywords whose Ajv error has a parameter (`param`) that names the faulty member. */
const memberFaults: Record<string, { param: string; fault: string }> = {
  required: { param: 'missingProperty', fault: 'is missing' },
  additionalProperties: { param: 'additionalProperty', fault: 'is not in the schema' },
  unevaluatedProperties: { param: 'unevaluatedProperty', fault: 'is not in the schema' },
};

/** Keywords whose Ajv error does not state what the schema expects. */
const expectations: Record<string, string> = {
  enum: 'must be one of the values that the schema lists',
  pattern: 'does not match the pattern of the schema',
  uniqueItems: 'must not contain the same item twice',
  'false schema': 'is not allowed by the schema',
};

/** The first fault of arguments, as a sentence that starts with the member: `"path" is missing`. */
export function describeFault({ keyword, instancePath, params, message }: ErrorObject): string {
  const at = instancePath.split('/').slice(1).map(unescaped);
  const ofMember = memberFaults[keyword];
  if (ofMember !== undefined) {
    const member = (params as Record<string, unknown>)[ofMember.param];
    return `${nameOf([...at, String(member)])} ${ofMember.fault}`;
  }
  return `${nameOf(at)} ${expectations[keyword] ?? message ?? `fails ${keyword}`}`;
}

/** A token of a JSON pointer (RFC 6901 section 4). */
function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

function nameOf(path: readonly string[]): string {
  if (path.length === 0) return 'the arguments';
  const name = path.join('.');
  return JSON.stringify(name.length > nameLengthMax ? `${name.slice(0, nameLengthMax)}…` : name);
}
