import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { commercial } from '../commercial/client.ts';
import { Moment } from '../parts/moment.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';

type Body = NonNullable<NonNullable<Parameters<typeof commercial.startCheckout>[0]>['body']>;
type Props = { orgId: OrgId; body: Body; act: string };

/** Opens a page of the payment provider. Nothing changes here until the provider reports the result. */
export function Checkout({ orgId, body, act }: Props) {
  const start = useMutation({
    mutationFn: async () => (await commercial.startCheckout({ params: { tenant_id: orgId }, body })).body,
  });
  if (start.data !== undefined && isWebAddress(start.data.url))
    return (
      <p role="status">
        <a className="button" href={start.data.url} rel="noreferrer">
          Continue to the payment page
        </a>{' '}
        <span className="quiet">
          The page closes at <Moment at={start.data.expires_at} />.
        </span>
      </p>
    );
  return (
    <>
      {start.error !== null && <ProblemNote error={start.error} />}
      <p className="actions">
        <Button size="xs" variant="default" loading={start.isPending} onClick={() => start.mutate()}>
          {act}
        </Button>
      </p>
    </>
  );
}

/** The address comes from another service (attacker-controlled): a link of another scheme could run a script. */
function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ['https:', 'http:'].includes(new URL(text).protocol);
}
