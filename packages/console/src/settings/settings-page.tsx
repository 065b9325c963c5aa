import { useQuery } from '@tanstack/react-query';
import { mayDo } from '@countersign/contracts';
import { providersQuery } from '../api/queries.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Moment } from '../parts/moment.tsx';
import { Page } from '../parts/page.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { PublicProof } from './public-proof.tsx';
import { Rename } from './rename.tsx';

/** The name and organisation of the workspace, and its sign-in options. */
export function SettingsPage() {
  const { id, role } = useWorkspace();
  const workspace = useWorkspaceQuery(['workspace'], async (client, signal) => {
    const { body, headers } = await client.getConsoleWorkspace({ params: { id }, signal });
    return { body: { ...body, etag: headers.get('etag') ?? '' } };
  });
  return (
    <Page
      title="Settings"
      about="Settings of the workspace. Your own sessions, programs and passkeys are under Your account."
    >
      <Loaded query={workspace}>
        {({ name, org_id, created_at, etag, public_proof }) => (
          <>
            <section aria-label="Workspace">
              <h2>Workspace</h2>
              <dl className="facts">
                <dt>Name</dt>
                <dd>
                  <Shown text={name} />
                </dd>
                <dt>Id, and the tenant in its receipts</dt>
                <dd>
                  <CopyText text={id} whole />
                </dd>
                <dt>Organisation</dt>
                <dd>{org_id === null ? 'none yet' : <CopyText text={org_id} whole />}</dd>
                <dt>Since</dt>
                <dd>
                  <Moment at={created_at} />
                </dd>
              </dl>
              {mayDo(role, 'workspace.manage') ? (
                <Rename name={name} etag={etag} />
              ) : (
                <p className="quiet">Only owners can rename the workspace.</p>
              )}
            </section>
            <PublicProof name={name} etag={etag} setting={public_proof} />
          </>
        )}
      </Loaded>
      <Providers />
    </Page>
  );
}

function Providers() {
  const providers = useQuery(providersQuery);
  return (
    <section aria-label="Sign-in">
      <h2>Sign-in</h2>
      <p>Passkey, e-mail code, and these identity providers:</p>
      <Loaded query={providers}>
        {(found) =>
          found.length === 0 ? (
            <p className="quiet">No provider is connected. The operator of the installation connects providers.</p>
          ) : (
            <ul>
              {found.map(({ connection_id, name }) => (
                <li key={connection_id}>
                  <Shown text={name} /> <code className="quiet">{connection_id}</code>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}
