import type { Finding } from '@countersign/contracts/governance-kernel';
import type { PinnedDefinition } from '../registry/tool-definition.ts';
import { changingVerbs, destroyingVerbs, harvestingParameters, programParameters } from './scan-rules.ts';

type Claim = Pick<Finding, 'kind' | 'rule' | 'severity' | 'detail' | 'member'>;

/** Where a definition claims less than the tool can do, or takes more than it needs. */
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
    return [of('claims-read-only', 'Claims to read only, and its name or description says that it changes something')];
  if (annotations?.destructiveHint === false && destroys)
    return [of('claims-harmless', 'Claims not to destroy, and its name or description says that it does')];
  return [];
}

/** `deleteFile`, `delete_file` and `Delete a file` begin with the same word. */
function firstWord(text: string): string {
  const words = text.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').match(/[A-Za-z]+/g);
  return (words?.[0] ?? '').toLowerCase();
}

/** `deletes` is `delete`. */
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
      return of('takes-context', 'medium', 'Takes what a model knows beside the call');
    if (programParameters.has(name) && isFree(schema))
      return of(
        'takes-program',
        isDeclared ? 'low' : 'medium',
        'Takes any program, and the tool is not declared destructive',
      );
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
