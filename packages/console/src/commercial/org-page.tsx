import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { isAppError } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { useOrg, type OrgOfWorkspace } from './use-commercial.ts';

export type OwningOrg = OrgOfWorkspace & { orgId: OrgId };

type Props = { title: string; about: string; children: (org: OwningOrg) => ReactNode };

/** A page about the organisation that owns the workspace. */
export function OrgPage({ title, about, children }: Props) {
  const org = useOrg();
  return (
    <Page title={title} about={about}>
      <Loaded query={org}>{({ orgId, names }) => (orgId === null ? <NoOrg /> : children({ orgId, names }))}</Loaded>
    </Page>
  );
}

function NoOrg() {
  return (
    <EmptyState
      title="No organisation yet"
      action={
        <Link className="button" to="/overview">
          Set up the organisation
        </Link>
      }
    >
      This page is about the organisation that owns the workspace. An owner names it once, on the overview.
    </EmptyState>
  );
}

type OfOrgProps<Data> = { query: UseQueryResult<Data>; children: (data: Data) => ReactNode };

/**
 * Shows data that the commercial gateway returns only to the administrator of the organisation. Other people see the
 * reason.
 */
export function OfOrg<Data>({ query, children }: OfOrgProps<Data>) {
  const { data, error } = query;
  if (data === undefined && isAppError(error) && error.code === 'NOT_FOUND')
    return <NotAdministrator retry={() => void query.refetch()} />;
  return <Loaded query={query}>{children}</Loaded>;
}

function NotAdministrator({ retry: again }: { retry: () => void }) {
  return (
    <section className="note" role="status">
      <h2>Only the administrator sees this page</h2>
      <p>The administrator is the person who created the organisation. Ask this person for what you need.</p>
      <p className="quiet">If you created it a moment ago, it appears here within a few seconds.</p>
      <Button size="xs" variant="default" onClick={again}>
        Try again
      </Button>
    </section>
  );
}
