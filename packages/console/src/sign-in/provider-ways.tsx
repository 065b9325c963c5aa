import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { person } from '../api/clients.ts';
import { providersQuery } from '../api/queries.ts';
import { ProblemNote } from '../parts/problem-note.tsx';

/** A sign-in button for each connected identity provider. While the list is unknown, there are no buttons. */
export function ProviderWays() {
  const { data: providers = [] } = useQuery(providersQuery);
  const begin = useMutation({
    mutationFn: async (connectionId: string) =>
      (await person.beginLogin({ body: { method: 'oidc', connection_id: connectionId } })).body,
    onSuccess: ({ authorization_url: address }) => {
      if (address !== undefined) location.assign(address);
    },
  });
  if (providers.length === 0) return null;
  return (
    <div className="other-way">
      {providers.map(({ connection_id: id, name }) => (
        <Button key={id} variant="default" fullWidth loading={begin.isPending} onClick={() => begin.mutate(id)}>
          Continue with {name}
        </Button>
      ))}
      {begin.error !== null && <ProblemNote error={begin.error} />}
    </div>
  );
}
