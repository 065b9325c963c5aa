import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { person } from '../api/clients.ts';
import { meQuery, sessionQuery } from '../api/queries.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import type { Ending } from './ending.ts';
import { Identities } from './identities.tsx';
import { Passkeys } from './passkeys.tsx';
import { Programs } from './programs.tsx';
import { Sessions } from './sessions.tsx';

/** The sign-ins of the person, each with a button to end it. */
export function YouPage() {
  const session = useQuery(sessionQuery);
  const { data: me } = useQuery(meQuery);
  const queries = useQueryClient();
  const [ending, setEnding] = useState<Ending | null>(null);
  const nameOf = (workspaceId: string) => me?.workspaces.find(({ id }) => id === workspaceId)?.name ?? workspaceId;
  return (
    <Page
      title="You"
      about="Your passkeys, sessions and programs. A session or program that you end here ends at once."
    >
      <Loaded query={session}>
        {({ passkeys, identities, sessions, devices }) => (
          <>
            <Passkeys passkeys={passkeys} nameOf={nameOf} onEnd={setEnding} />
            <Identities identities={identities} onEnd={setEnding} />
            <Sessions sessions={sessions} hasMore={sessions.length + devices.length > 1} onEnd={setEnding} />
            <Programs devices={devices} nameOf={nameOf} onEnd={setEnding} />
          </>
        )}
      </Loaded>
      <ConfirmDialog
        question={
          ending && {
            ...ending,
            run: () => person.endCredential({ params: { credential_id: ending.id } }),
          }
        }
        onClose={() => setEnding(null)}
        onDone={() => void queries.invalidateQueries({ queryKey: sessionQuery.queryKey })}
      />
    </Page>
  );
}
