import { AppError } from '@countersign/contracts';
import { listDriftedTools, listRegisteredTools, type RegisteredTool } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import type { Looked } from './resync.ts';

type Deps = Pick<Context, 'kernel'>;

const pageTools = 200;
/** The most pages that are read. The tools of all servers of one kernel fill fewer pages. */
const pagesMax = 50;
const foundMax = 200;

/**
 * Makes the kernel list the tools of its servers, and returns the tools of this server that differ from what was
 * approved. Throws NOT_FOUND when the kernel has no tools of this server.
 */
export async function resyncConnector(context: Deps, serverId: string, caller: WorkspaceCaller): Promise<Looked> {
  const client = context.kernel.own({ listDriftedTools });
  await answerOf('kernel', () => client.listDriftedTools({ query: { limit: 1 } }));
  const tools = await listToolsOf(context, serverId, caller);
  if (tools.length === 0)
    throw new AppError(
      'NOT_FOUND',
      'This object does not exist, or you have no access to it. Check its ID and the workspace',
    );
  const differing = tools.filter(({ pin }) => pin !== 'in_sync');
  const found = differing.slice(0, foundMax).map(({ tool: ref, pin, observed_hash }) => {
    const note =
      pin === 'drifted' ? `Its server now lists the definition ${observed_hash}.` : 'This tool is not approved.';
    return { ref, state: 'differs' as const, note };
  });
  return { checked: tools.length, found, is_whole: differing.length <= foundMax };
}

/** The tools of one server. The kernel sorts tools by the name of their server, so reading stops after this server. */
async function listToolsOf({ kernel }: Deps, serverId: string, caller: WorkspaceCaller): Promise<RegisteredTool[]> {
  const client = kernel.as(caller.assertion, { listRegisteredTools });
  const tools: RegisteredTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const query = { limit: pageTools, ...(cursor === undefined ? {} : { cursor }) };
    const { data, next_cursor } = await answerOf('kernel', () => client.listRegisteredTools({ query }));
    tools.push(...data.filter(({ server_id }) => server_id === serverId));
    const last = data.at(-1)?.server_id ?? '';
    if (next_cursor === null || last > serverId) break;
    cursor = next_cursor;
  }
  return tools;
}
