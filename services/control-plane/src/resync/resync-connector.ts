import { AppError } from '@countersign/contracts';
import { listDriftedTools, listRegisteredTools, type RegisteredTool } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import type { Looked } from './resync.ts';

const pageTools = 200;
/** More than a kernel has servers with many tools. */
const pagesMax = 50;
const foundMax = 200;

/** Has the kernel ask its servers what they show, and tells which tools of this one are not what was approved. Throws NOT_FOUND. */
export async function resyncConnector(context: Context, serverId: string, caller: WorkspaceCaller): Promise<Looked> {
  const asked = context.kernel.own({ listDriftedTools });
  await answerOf('kernel', () => asked.listDriftedTools({ query: { limit: 1 } }));
  const tools = await listToolsOf(context, serverId, caller);
  if (tools.length === 0) throw new AppError('NOT_FOUND', 'There is no such object');
  const differing = tools.filter(({ pin }) => pin !== 'in_sync');
  const found = differing.slice(0, foundMax).map(({ tool: ref, pin, observed_hash }) => {
    const note = pin === 'drifted' ? `Its server shows ${observed_hash} now.` : 'It is not approved.';
    return { ref, state: 'differs' as const, note };
  });
  return { checked: tools.length, found, is_whole: differing.length <= foundMax };
}

/** Servers come by name, each with all of its tools. */
async function listToolsOf({ kernel }: Context, serverId: string, caller: WorkspaceCaller): Promise<RegisteredTool[]> {
  const asked = kernel.as(caller.assertion, { listRegisteredTools });
  const tools: RegisteredTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const query = { limit: pageTools, ...(cursor === undefined ? {} : { cursor }) };
    const { data, next_cursor } = await answerOf('kernel', () => asked.listRegisteredTools({ query }));
    tools.push(...data.filter(({ server_id }) => server_id === serverId));
    const last = data.at(-1)?.server_id ?? '';
    if (next_cursor === null || last > serverId) break;
    cursor = next_cursor;
  }
  return tools;
}
