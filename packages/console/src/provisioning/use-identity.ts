import { useMutation, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import type { IdentitySettings } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { commercial } from '../commercial/client.ts';
import { useCommercial, useReadAgain } from '../commercial/use-commercial.ts';

export type Identity = { settings: IdentitySettings; etag: string };
type Body = NonNullable<NonNullable<Parameters<typeof commercial.putIdentity>[0]>['body']>;
/** A change of one part of the settings. The other parts are sent unchanged, with the ETag of the last read. */
type IdentityChange = UseMutationResult<IdentitySettings, Error, Partial<Body>>;

export function useIdentity(orgId: OrgId): UseQueryResult<Identity> {
  return useCommercial(['identity', orgId], async (signal) => {
    const { body, headers } = await commercial.getIdentity({ query: { org_id: orgId }, signal });
    return { settings: body, etag: headers.get('etag') ?? '' };
  });
}

export function useChangeIdentity({ settings, etag }: Identity, onDone?: () => void): IdentityChange {
  const readAgain = useReadAgain();
  return useMutation({
    mutationFn: async (changed) => (await sendChange({ settings, etag }, changed)).body,
    onSuccess: () => onDone?.(),
    onSettled: readAgain,
  });
}

export function sendChange({ settings, etag }: Identity, changed: Partial<Body>) {
  const { org_id, sso_required, oidc_connection_id, role_mappings, domains } = settings;
  const body = {
    sso_required,
    oidc_connection_id,
    role_mappings,
    domains: domains.map(({ domain }) => domain),
    ...changed,
  };
  return commercial.putIdentity({ query: { org_id }, body, headers: { 'if-match': etag } });
}
