import { parsePolicyBundle, PolicyError } from '@countersign/policy';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';

/** YAML is read in one piece, and a longer one would hold others up; JSON of the same size takes a hundredth of that. */
const yamlTextMax = 65_536;

/** Throws PolicyError. */
export function parseDraft(text: string): PolicyBundle {
  if (text.length > yamlTextMax && !text.trimStart().startsWith('{'))
    throw new PolicyError(
      'TOO_LARGE',
      '',
      `a draft in YAML may have ${yamlTextMax} characters: write a longer one as JSON`,
    );
  return parsePolicyBundle(text);
}
