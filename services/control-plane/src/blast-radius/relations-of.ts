import type { PrincipalId, WorkspaceId } from '@countersign/contracts';
import { relatedAgentsMax, type BlastRadius } from '@countersign/contracts/control-plane';
import { listSubjectRelations, SubjectName } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { tenantOf } from '../siblings/tenant-of.ts';
import { answerOf } from '../siblings/answer-of.ts';

type Relations = BlastRadius['affected']['relations'];

/**
 * The relations whose subject is one of these agents, for at most `relatedAgentsMax` agents. Relations of a group to
 * which an agent belongs are not included.
 */
export async function relationsOf(
  { kernel }: Pick<Context, 'kernel'>,
  workspaceId: WorkspaceId,
  agents: readonly PrincipalId[],
): Promise<{ relations: Relations; areMore: boolean }> {
  const client = kernel.own({ listSubjectRelations });
  const params = { tenant: tenantOf(workspaceId) };
  const relations: Relations = [];
  let areMore = agents.length > relatedAgentsMax;
  for (const agent of agents.slice(0, relatedAgentsMax)) {
    const subject = SubjectName.safeParse(`agent:${agent}`);
    if (!subject.success) continue;
    const query = { subject: subject.data };
    const { data, more } = await answerOf('kernel', () => client.listSubjectRelations({ params, query }));
    relations.push(...data);
    areMore ||= more;
  }
  return { relations, areMore };
}
