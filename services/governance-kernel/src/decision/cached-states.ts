import { currentOrg } from '../controls/fences/current-org.ts';
import type { KnownOrgs } from '../controls/fences/known-orgs.ts';
import type { ComparedState } from '../ledger/cached-state.ts';
import { currentPolicy, type PolicySource } from '../controls/policy/current-policy.ts';
import { currentRelations } from '../controls/relations/current-relations.ts';
import type { RelationSource } from '../controls/relations/relation-source.ts';
import type { ToolResolver } from '../registry/tool-resolver.ts';
import { currentServers } from './current-servers.ts';
import type { PreparedCall } from './known-call.ts';
import { currentDrafts, type ShadowSource } from './shadow.ts';

type Deps = {
  orgs: KnownOrgs;
  tools: ToolResolver;
  policies: PolicySource;
  shadows: ShadowSource;
  relations: RelationSource;
};

export type CachedStates = ReturnType<typeof cachedStates>;

/** All states that decisions use before their batch. A new one is a row here. */
export function cachedStates({ orgs, tools, policies, shadows, relations }: Deps) {
  const organisation = currentOrg(orgs);
  const servers = currentServers(tools);
  const policy = currentPolicy(policies);
  const drafts = currentDrafts(shadows);
  const related = currentRelations(relations);
  /** Stops rest on these states, so they are compared first, also before an answer is replayed. */
  const ofStops: readonly ComparedState<PreparedCall>[] = [organisation, servers];
  /** Only a new decision rests on these states. */
  const ofDecision: readonly ComparedState<PreparedCall>[] = [policy, drafts, related];
  return { organisation, servers, policy, drafts, relations: related, ofStops, ofDecision };
}
