import type { Finding } from '@countersign/contracts/governance-kernel';
import type { PinnedDefinition } from '../../registry/tool-definition.ts';
import { changingVerbs, destroyingVerbs, harvestingParameters, programParameters } from './scan-rules.ts';

type Claim = Pick<Finding, 'kind' | 'rule' | 'severity' | 'detail' | 'member'>;

/** Claims of a definition that understate what its tool does, and parameters that accept more than the tool needs. */
export function claimsOf(tool: PinnedDefinition): Claim[] {
  return [...effectClaims(tool), ...schemaClaims(tool)];
}

function effectClaims({ name, description = '', annotations }: PinnedDefinition): Claim[] {
  const verbs = [firstWord(name), stem(firstWord(description))];
  const destroys = verbs.some((verb) => destroyingVerbs.has(verb));
  const changes = destroys || verbs.some((verb) => changingVerbs.has(verb));
  const member = 'annotations';
  const of = (rule: string, detail: string): Claim => ({
    kind: 'understated_effect',
    severity: 'medium',
    rule,
    detail,
    member,
  });
  if (annotations?.readOnlyHint === true && changes)
    return [of('claims-read-only', 'Claims to be read-only, but its name or description states a change')];
  if (annotations?.destructiveHint === false && destroys)
    return [
      of('claims-harmless', 'Claims to be harmless, but its name or description states that it destroys something'),
    ];
  return [];
}

/** `deleteFile`, `delete_file` and `Delete a file` begin with the same word. */
function firstWord(text: string): string {
  const words = text.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').match(/[A-Za-z]+/g);
  return (words?.[0] ?? '').toLowerCase();
}

/** The verb without an ending: `deletes` becomes `delete`. */
function stem(word: string): string {
  if (destroyingVerbs.has(word) || changingVerbs.has(word)) return word;
  const singular = word.replace(/s$/, '');
  return destroyingVerbs.has(singular) || changingVerbs.has(singular) ? singular : word.replace(/es$/, '');
}

function schemaClaims({ inputSchema, annotations }: PinnedDefinition): Claim[] {
  const properties = Object.entries(inputSchema.properties ?? {});
  const isDeclared = annotations?.destructiveHint === true;
  return properties.flatMap(([parameter, schema]): Claim[] => {
    const name = parameter.toLowerCase();
    const of = (rule: string, severity: Claim['severity'], detail: string): Claim[] => [
      { kind: 'broad_schema', rule, severity, detail, member: `inputSchema.properties.${parameter}` },
    ];
    if (harvestingParameters.has(name))
      return of('takes-context', 'medium', 'Takes information that the model has besides the call');
    if (programParameters.has(name) && isFree(schema))
      return of('takes-program', isDeclared ? 'low' : 'medium', 'Takes any program as a parameter');
    return [];
  });
}

function isFree(schema: unknown): boolean {
  return (
    typeof schema === 'object' &&
    schema !== null &&
    !('enum' in schema) &&
    !('const' in schema) &&
    !('pattern' in schema)
  );
}
