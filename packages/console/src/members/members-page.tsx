import { mayDo } from '@countersign/contracts';
import { Page } from '../parts/page.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { AgentKeys } from './agent-keys.tsx';
import { ApiKeys } from './api-keys.tsx';
import { Invites } from './invites.tsx';
import { Members } from './members.tsx';

/** People of the workspace with their roles, and programs with their keys. */
export function MembersPage() {
  const { name, role } = useWorkspace();
  const isOwner = mayDo(role, 'member.manage');
  return (
    <Page title="Members and keys" about={`Who may do what in ${name}. Changes apply at once.`}>
      <Roles />
      {!isOwner && (
        <p className="note">Owners invite people, change roles and remove members. You are a {role} here.</p>
      )}
      <Members isOwner={isOwner} />
      {isOwner && <Invites />}
      <ApiKeys isOwner={isOwner} />
      {isOwner && <AgentKeys />}
    </Page>
  );
}

function Roles() {
  return (
    <section aria-label="Roles">
      <dl className="facts">
        <dt>member</dt>
        <dd>reads, runs tasks, drafts</dd>
        <dt>partner</dt>
        <dd>also approves, and stops agents</dd>
        <dt>owner</dt>
        <dd>also changes policy, budgets, members</dd>
      </dl>
    </section>
  );
}
