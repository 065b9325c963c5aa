import { parsePolicyBundle, PolicyError } from '@countersign/policy';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';

/**
 * YAML is parsed in one step, so a longer text would block other requests. JSON of the same size takes a hundredth of
 * the time.
 */
const yamlTextMax = 65_536;

/** Throws PolicyError. */
export function parseDraft(text: string): PolicyBundle {
  if (text.length > yamlTextMax && !text.trimStart().startsWith('{'))
    throw new PolicyError(
      'TOO_LARGE',
      '',
      `a draft in YAML may have at most ${yamlTextMax} characters. Write a longer one as JSON`,
    );
  return parsePolicyBundle(text);
}
