import { OfOrg, OrgPage, type OwningOrg } from '../commercial/org-page.tsx';
import { Domains } from './domains.tsx';
import { RoleMappings } from './role-mappings.tsx';
import { Scim } from './scim.tsx';
import { SingleSignOn } from './single-sign-on.tsx';
import { useIdentity } from './use-identity.ts';

/** How people of the organisation get access through its identity provider. */
export function ProvisioningPage() {
  return (
    <OrgPage
      title="Provisioning"
      about="People and roles come from your identity provider. A person who is deactivated there loses access here within seconds."
    >
      {(org) => <OfAdministrator org={org} />}
    </OrgPage>
  );
}

function OfAdministrator({ org: { orgId, names } }: { org: OwningOrg }) {
  const identity = useIdentity(orgId);
  return (
    <OfOrg query={identity}>
      {(read) => (
        <>
          <Domains identity={read} />
          <SingleSignOn identity={read} names={names} />
          <Scim identity={read} />
          <RoleMappings identity={read} />
        </>
      )}
    </OfOrg>
  );
}
