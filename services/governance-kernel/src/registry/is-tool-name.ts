import { ToolName } from '@countersign/contracts';
import { meaningOf } from '@countersign/policy';

/** Whether a call could have a tool of this name. A name whose canonical form is empty or only dots is not possible. */
export function isToolName(name: string): boolean {
  return ToolName.safeParse(name).success && !/^\.*$/.test(meaningOf(name));
}
