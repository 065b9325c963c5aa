import type { commercialRoutes } from '@countersign/contracts/routes';
import type { Operations } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { activateLicenceRoute } from './routes/licences/activate-licence.ts';
import { beginTrialRoute } from './routes/licences/begin-trial.ts';
import { checkEntitlementRoute } from './routes/entitlements/check-entitlement.ts';
import { getCommercialStatusRoute } from './routes/get-commercial-status.ts';
import { createComplianceReportRoute } from './routes/compliance/create-compliance-report.ts';
import { createScimTokenRoute } from './routes/identity/create-scim-token.ts';
import { getComplianceReportRoute } from './routes/compliance/get-compliance-report.ts';
import { getEntitlementsRoute } from './routes/entitlements/get-entitlements.ts';
import { getHealthRoute } from './routes/get-health.ts';
import { getIdentityRoute } from './routes/identity/get-identity.ts';
import { putIdentityRoute } from './routes/identity/put-identity.ts';
import { revokeScimTokenRoute } from './routes/identity/revoke-scim-token.ts';
import { getBillingAccountRoute } from './routes/billing/get-billing-account.ts';
import { getInvoiceRoute } from './routes/billing/get-invoice.ts';
import { getUsageRoute } from './routes/metering/get-usage.ts';
import { listBillingPlansRoute } from './routes/billing/list-billing-plans.ts';
import { listComplianceReportsRoute } from './routes/compliance/list-compliance-reports.ts';
import { listInvoicesRoute } from './routes/billing/list-invoices.ts';
import { listLedgerRoute } from './routes/billing/list-ledger.ts';
import { putBudgetRoute } from './routes/billing/put-budget.ts';
import { putSubscriptionRoute } from './routes/billing/put-subscription.ts';
import { recordUsageEventsRoute } from './routes/metering/record-usage-events.ts';
import { grantOrgCreditRoute } from './routes/admin/grant-org-credit.ts';
import { listAdministeredOrgsRoute } from './routes/admin/list-administered-orgs.ts';
import { receivePaymentEventRoute } from './routes/billing/receive-payment-event.ts';
import { refundInvoiceRoute } from './routes/billing/refund-invoice.ts';
import { startCheckoutRoute } from './routes/billing/start-checkout.ts';
import { putOrgSettingsRoute } from './routes/admin/put-org-settings.ts';
import { getSpendSummaryRoute } from './routes/basic/get-spend-summary.ts';
import { getRuntimeStatusRoute } from './routes/basic/get-runtime-status.ts';
import { recordSpendRoute } from './routes/basic/record-spend.ts';
import { startRuntimeRoute } from './routes/basic/start-runtime.ts';
import { stopRuntimeRoute } from './routes/basic/stop-runtime.ts';
import { showFrontPageRoute } from './routes/show-front-page.ts';
import { getBasicHealthRoute } from './routes/basic/get-basic-health.ts';
import { listBasicWorkspacesRoute } from './routes/basic/list-basic-workspaces.ts';
import { createBasicWorkspaceRoute } from './routes/basic/create-basic-workspace.ts';
import { listProjectsRoute } from './routes/basic/list-projects.ts';
import { createProjectRoute } from './routes/basic/create-project.ts';
import { listEnvironmentsRoute } from './routes/basic/list-environments.ts';
import { createEnvironmentRoute } from './routes/basic/create-environment.ts';
import { listBasicMembersRoute } from './routes/basic/list-basic-members.ts';
import { createBasicMemberRoute } from './routes/basic/create-basic-member.ts';
import { listBasicKeysRoute } from './routes/basic/list-basic-keys.ts';
import { createBasicKeyRoute } from './routes/basic/create-basic-key.ts';
import { revokeBasicKeyRoute } from './routes/basic/revoke-basic-key.ts';
import { listBasicApprovalsRoute } from './routes/basic/list-basic-approvals.ts';
import { resolveBasicApprovalRoute } from './routes/basic/resolve-basic-approval.ts';
import { listBasicEvidenceRoute } from './routes/basic/list-basic-evidence.ts';
import { createBasicEvidenceRoute } from './routes/basic/create-basic-evidence.ts';
import { listBasicIncidentsRoute } from './routes/basic/list-basic-incidents.ts';
import { createBasicIncidentRoute } from './routes/basic/create-basic-incident.ts';
import { transitionBasicIncidentRoute } from './routes/basic/transition-basic-incident.ts';
import { listBasicPlansRoute } from './routes/basic/list-basic-plans.ts';
import { createBasicPlanRoute } from './routes/basic/create-basic-plan.ts';
import { approveBasicPlanRoute } from './routes/basic/approve-basic-plan.ts';
import { commitBasicPlanRoute } from './routes/basic/commit-basic-plan.ts';
import { createBasicBlastRadiusRoute } from './routes/basic/create-basic-blast-radius.ts';
import { listBasicSubscriptionsRoute } from './routes/basic/list-basic-subscriptions.ts';
import { putBasicSubscriptionRoute } from './routes/basic/put-basic-subscription.ts';
import { emitBasicEventRoute } from './routes/basic/emit-basic-event.ts';
import { listBasicDeliveriesRoute } from './routes/basic/list-basic-deliveries.ts';
import { redriveBasicDeliveryRoute } from './routes/basic/redrive-basic-delivery.ts';
import { getScimConfigRoute } from './routes/scim/get-scim-config.ts';
import { listScimResourceTypesRoute } from './routes/scim/list-scim-resource-types.ts';
import { listScimSchemasRoute } from './routes/scim/list-scim-schemas.ts';
import { listScimUsersRoute } from './routes/scim/list-scim-users.ts';
import { createScimUserRoute } from './routes/scim/create-scim-user.ts';
import { getScimUserRoute } from './routes/scim/get-scim-user.ts';
import { putScimUserRoute } from './routes/scim/put-scim-user.ts';
import { patchScimUserRoute } from './routes/scim/patch-scim-user.ts';
import { deleteScimUserRoute } from './routes/scim/delete-scim-user.ts';
import { listScimGroupsRoute } from './routes/scim/list-scim-groups.ts';
import { createScimGroupRoute } from './routes/scim/create-scim-group.ts';
import { getScimGroupRoute } from './routes/scim/get-scim-group.ts';
import { putScimGroupRoute } from './routes/scim/put-scim-group.ts';
import { patchScimGroupRoute } from './routes/scim/patch-scim-group.ts';
import { deleteScimGroupRoute } from './routes/scim/delete-scim-group.ts';

/** The endpoint of each route of the commercial gateway. */
export const operations: Operations<typeof commercialRoutes, Context> = {
  showFrontPage: showFrontPageRoute,
  getHealth: getHealthRoute,
  getCommercialStatus: getCommercialStatusRoute,
  getEntitlements: getEntitlementsRoute,
  checkEntitlements: checkEntitlementRoute,
  activateLicence: activateLicenceRoute,
  createComplianceReport: createComplianceReportRoute,
  listComplianceReports: listComplianceReportsRoute,
  getComplianceReport: getComplianceReportRoute,
  beginTrial: beginTrialRoute,
  getIdentity: getIdentityRoute,
  putIdentity: putIdentityRoute,
  createScimToken: createScimTokenRoute,
  revokeScimToken: revokeScimTokenRoute,
  getScimConfig: getScimConfigRoute,
  listScimResourceTypes: listScimResourceTypesRoute,
  listScimSchemas: listScimSchemasRoute,
  listScimUsers: listScimUsersRoute,
  createScimUser: createScimUserRoute,
  getScimUser: getScimUserRoute,
  putScimUser: putScimUserRoute,
  patchScimUser: patchScimUserRoute,
  deleteScimUser: deleteScimUserRoute,
  listScimGroups: listScimGroupsRoute,
  createScimGroup: createScimGroupRoute,
  getScimGroup: getScimGroupRoute,
  putScimGroup: putScimGroupRoute,
  patchScimGroup: patchScimGroupRoute,
  deleteScimGroup: deleteScimGroupRoute,
  getBillingAccount: getBillingAccountRoute,
  getInvoice: getInvoiceRoute,
  getUsage: getUsageRoute,
  listBillingPlans: listBillingPlansRoute,
  listInvoices: listInvoicesRoute,
  listLedger: listLedgerRoute,
  putBudget: putBudgetRoute,
  putSubscription: putSubscriptionRoute,
  recordUsageEvents: recordUsageEventsRoute,
  refundInvoice: refundInvoiceRoute,
  startCheckout: startCheckoutRoute,
  receivePaymentEvent: receivePaymentEventRoute,
  grantOrgCredit: grantOrgCreditRoute,
  listAdministeredOrgs: listAdministeredOrgsRoute,
  putOrgSettings: putOrgSettingsRoute,
  getBasicHealth: getBasicHealthRoute,
  listBasicWorkspaces: listBasicWorkspacesRoute,
  createBasicWorkspace: createBasicWorkspaceRoute,
  listProjects: listProjectsRoute,
  createProject: createProjectRoute,
  listEnvironments: listEnvironmentsRoute,
  createEnvironment: createEnvironmentRoute,
  listBasicMembers: listBasicMembersRoute,
  createBasicMember: createBasicMemberRoute,
  listBasicKeys: listBasicKeysRoute,
  createBasicKey: createBasicKeyRoute,
  revokeBasicKey: revokeBasicKeyRoute,
  listBasicApprovals: listBasicApprovalsRoute,
  resolveBasicApproval: resolveBasicApprovalRoute,
  listBasicEvidence: listBasicEvidenceRoute,
  createBasicEvidence: createBasicEvidenceRoute,
  listBasicIncidents: listBasicIncidentsRoute,
  createBasicIncident: createBasicIncidentRoute,
  transitionBasicIncident: transitionBasicIncidentRoute,
  listBasicPlans: listBasicPlansRoute,
  createBasicPlan: createBasicPlanRoute,
  approveBasicPlan: approveBasicPlanRoute,
  commitBasicPlan: commitBasicPlanRoute,
  createBasicBlastRadius: createBasicBlastRadiusRoute,
  listBasicSubscriptions: listBasicSubscriptionsRoute,
  putBasicSubscription: putBasicSubscriptionRoute,
  emitBasicEvent: emitBasicEventRoute,
  listBasicDeliveries: listBasicDeliveriesRoute,
  redriveBasicDelivery: redriveBasicDeliveryRoute,
  recordSpend: recordSpendRoute,
  getSpendSummary: getSpendSummaryRoute,
  startRuntime: startRuntimeRoute,
  stopRuntime: stopRuntimeRoute,
  getRuntimeStatus: getRuntimeStatusRoute,
};
