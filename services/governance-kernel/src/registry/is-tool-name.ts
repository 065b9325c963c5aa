import { ToolName } from '@countersign/contracts';
import { meaningOf } from '@countersign/policy';

/** Could a call have a tool of this name? Not one of which nothing is left for a reader. */
export function isToolName(name: string): boolean {
  return ToolName.safeParse(name).success && !/^\.*$/.test(meaningOf(name));
}
