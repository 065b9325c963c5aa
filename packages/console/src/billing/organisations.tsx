import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { pageLimit } from '@countersign/contracts';
import type { AdministeredOrg } from '@countersign/contracts/commercial-gateway';
import { quantityOf } from '../commercial/amounts.ts';
import { commercial } from '../commercial/client.ts';
import { useReadAgain } from '../commercial/use-commercial.ts';
import { inSentence, meterWords, subscriptionWords } from '../commercial/words.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { CreditDialog } from './credit-dialog.tsx';
import { OrgSettingsDialog } from './org-settings-dialog.tsx';

const key = ['administered-orgs'];

/**
 * Organisations of the installation, for its administrators. Reading them needs a fresh proof of presence. They are
 * therefore read when a page of the list opens or an organisation is changed, never on a timer.
 */
export function Organisations() {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const queries = useQueryClient();
  const readOrg = useReadAgain();
  const list = useQuery({
    queryKey: [...key, cursor],
    queryFn: async ({ signal }) => {
      const query = { limit: pageLimit.default, ...(cursor === undefined ? {} : { cursor }) };
      return (await commercial.listAdministeredOrgs({ query, signal })).body;
    },
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const readAgain = () => {
    void queries.invalidateQueries({ queryKey: key });
    void readOrg();
  };
  return (
    <section aria-label="All organisations">
      <p className="quiet">
        You administer this installation. A suspended organisation starts no new runs; its stops, approvals, proof and
        exports go on.
      </p>
      <Loaded query={list}>
        {({ data, next_cursor }) => (
          <>
            {data.length === 0 ? (
              <EmptyState title="No organisations yet">An owner of a workspace creates one on the overview.</EmptyState>
            ) : (
              data.map((org) => <OrgCard key={org.org_id} org={org} onChanged={readAgain} />)
            )}
            <p className="more">
              {cursors.length > 0 && (
                <Button size="xs" variant="default" onClick={() => setCursors(cursors.slice(0, -1))}>
                  Previous page
                </Button>
              )}{' '}
              {next_cursor !== null && (
                <Button size="xs" variant="default" onClick={() => setCursors([...cursors, next_cursor])}>
                  Next page
                </Button>
              )}
            </p>
          </>
        )}
      </Loaded>
    </section>
  );
}

function OrgCard({ org, onChanged }: { org: AdministeredOrg; onChanged: () => void }) {
  const { name, subscription, suspension, override } = org;
  const [open, setOpen] = useState<'suspension' | 'override' | 'credit' | null>(null);
  const dialog = { org, onClose: () => setOpen(null), onDone: onChanged };
  return (
    <article className="card" aria-label={name}>
      <div className="card-head">
        <h2>
          <Shown text={name} />
        </h2>
        {suspension !== null && <Mark tone="bad">Suspended</Mark>}
        {subscription !== null && (
          <Mark tone={subscriptionWords[subscription.status].tone}>{subscriptionWords[subscription.status].says}</Mark>
        )}
      </div>
      <OrgFacts org={org} />
      <div className="actions">
        <Button size="xs" variant="default" onClick={() => setOpen('suspension')}>
          {suspension === null ? 'Suspend' : 'Resume'} <span className="hidden">{name}</span>
        </Button>
        <Button size="xs" variant="default" onClick={() => setOpen('override')}>
          {override === null ? 'Add exception' : 'Change exception'} <span className="hidden">for {name}</span>
        </Button>
        <Button size="xs" variant="default" onClick={() => setOpen('credit')}>
          Grant credit <span className="hidden">to {name}</span>
        </Button>
      </div>
      {(open === 'suspension' || open === 'override') && <OrgSettingsDialog section={open} {...dialog} />}
      {open === 'credit' && <CreditDialog {...dialog} />}
    </article>
  );
}

function OrgFacts({ org }: { org: AdministeredOrg }) {
  const { org_id: id, subscription, usage, metering_lag_seconds: lag, suspension, override } = org;
  return (
    <dl className="facts">
      <dt>Id</dt>
      <dd>
        <CopyText text={id} />
      </dd>
      <dt>Plan</dt>
      <dd>
        {subscription === null ? 'no subscription' : `${subscription.plan_id}, version ${subscription.plan_version}`}
      </dd>
      <dt>Usage this month</dt>
      <dd>
        {usage.length === 0
          ? 'none'
          : usage.map(({ meter, quantity }) => `${quantityOf(quantity)} ${inSentence(meterWords[meter])}`).join(', ')}
      </dd>
      <dt>Metering delay</dt>
      <dd>{lag === null ? 'nothing counted yet' : `${quantityOf(lag)} s`}</dd>
      {suspension !== null && (
        <>
          <dt>Suspended</dt>
          <dd>
            <Moment at={suspension.suspended_at} />: <Shown text={suspension.reason} />
          </dd>
        </>
      )}
      {override !== null && (
        <>
          <dt>Exception</dt>
          <dd>
            {overrideInWords(override)}, until <Moment at={override.expires_at} />
          </dd>
        </>
      )}
    </dl>
  );
}

function overrideInWords({ limits, capabilities }: NonNullable<AdministeredOrg['override']>): string {
  const words = Object.entries(limits).map(
    ([name, limit]) => `${name.replaceAll('_', ' ')}: ${limit === null ? 'no limit' : quantityOf(limit)}`,
  );
  return [...words, ...capabilities].join(', ') || 'nothing';
}
