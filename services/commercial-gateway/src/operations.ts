import type { commercialRoutes } from '@countersign/contracts/routes';
import type { Operations } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { activateLicenceRoute } from './routes/activate-licence.ts';
import { beginTrialRoute } from './routes/begin-trial.ts';
import { checkEntitlementRoute } from './routes/check-entitlement.ts';
import { getCommercialStatusRoute } from './routes/get-commercial-status.ts';
import { createComplianceReportRoute } from './routes/create-compliance-report.ts';
import { createScimTokenRoute } from './routes/create-scim-token.ts';
import { getComplianceReportRoute } from './routes/get-compliance-report.ts';
import { getEntitlementsRoute } from './routes/get-entitlements.ts';
import { getHealthRoute } from './routes/get-health.ts';
import { getIdentityRoute } from './routes/get-identity.ts';
import { putIdentityRoute } from './routes/put-identity.ts';
import { revokeScimTokenRoute } from './routes/revoke-scim-token.ts';
import { getBillingAccountRoute } from './routes/get-billing-account.ts';
import { getInvoiceRoute } from './routes/get-invoice.ts';
import { getUsageRoute } from './routes/get-usage.ts';
import { listBillingPlansRoute } from './routes/list-billing-plans.ts';
import { listComplianceReportsRoute } from './routes/list-compliance-reports.ts';
import { listInvoicesRoute } from './routes/list-invoices.ts';
import { listLedgerRoute } from './routes/list-ledger.ts';
import { putBudgetRoute } from './routes/put-budget.ts';
import { putSubscriptionRoute } from './routes/put-subscription.ts';
import { recordUsageEventsRoute } from './routes/record-usage-events.ts';
import { grantOrgCreditRoute } from './routes/grant-org-credit.ts';
import { listAdministeredOrgsRoute } from './routes/list-administered-orgs.ts';
import { receivePaymentEventRoute } from './routes/receive-payment-event.ts';
import { refundInvoiceRoute } from './routes/refund-invoice.ts';
import { startCheckoutRoute } from './routes/start-checkout.ts';
import { putOrgSettingsRoute } from './routes/put-org-settings.ts';
import { getSpendSummaryRoute } from './routes/get-spend-summary.ts';
import { getRuntimeStatusRoute } from './routes/get-runtime-status.ts';
import { recordSpendRoute } from './routes/record-spend.ts';
import { startRuntimeRoute } from './routes/start-runtime.ts';
import { stopRuntimeRoute } from './routes/stop-runtime.ts';
import { showFrontPageRoute } from './routes/show-front-page.ts';
import { getBasicHealthRoute } from './routes/get-basic-health.ts';
import { listBasicWorkspacesRoute } from './routes/list-basic-workspaces.ts';
import { createBasicWorkspaceRoute } from './routes/create-basic-workspace.ts';
import { listProjectsRoute } from './routes/list-projects.ts';
import { createProjectRoute } from './routes/create-project.ts';
import { listEnvironmentsRoute } from './routes/list-environments.ts';
import { createEnvironmentRoute } from './routes/create-environment.ts';
import { listBasicMembersRoute } from './routes/list-basic-members.ts';
import { createBasicMemberRoute } from './routes/create-basic-member.ts';
import { listBasicKeysRoute } from './routes/list-basic-keys.ts';
import { createBasicKeyRoute } from './routes/create-basic-key.ts';
import { revokeBasicKeyRoute } from './routes/revoke-basic-key.ts';
import { listBasicApprovalsRoute } from './routes/list-basic-approvals.ts';
import { resolveBasicApprovalRoute } from './routes/resolve-basic-approval.ts';
import { listBasicEvidenceRoute } from './routes/list-basic-evidence.ts';
import { createBasicEvidenceRoute } from './routes/create-basic-evidence.ts';
import { listBasicIncidentsRoute } from './routes/list-basic-incidents.ts';
import { createBasicIncidentRoute } from './routes/create-basic-incident.ts';
import { transitionBasicIncidentRoute } from './routes/transition-basic-incident.ts';
import { listBasicPlansRoute } from './routes/list-basic-plans.ts';
import { createBasicPlanRoute } from './routes/create-basic-plan.ts';
import { approveBasicPlanRoute } from './routes/approve-basic-plan.ts';
import { commitBasicPlanRoute } from './routes/commit-basic-plan.ts';
import { createBasicBlastRadiusRoute } from './routes/create-basic-blast-radius.ts';
import { listBasicSubscriptionsRoute } from './routes/list-basic-subscriptions.ts';
import { putBasicSubscriptionRoute } from './routes/put-basic-subscription.ts';
import { emitBasicEventRoute } from './routes/emit-basic-event.ts';
import { listBasicDeliveriesRoute } from './routes/list-basic-deliveries.ts';
import { redriveBasicDeliveryRoute } from './routes/redrive-basic-delivery.ts';
import { getScimConfigRoute } from './routes/get-scim-config.ts';
import { listScimResourceTypesRoute } from './routes/list-scim-resource-types.ts';
import { listScimSchemasRoute } from './routes/list-scim-schemas.ts';
import { listScimUsersRoute } from './routes/list-scim-users.ts';
import { createScimUserRoute } from './routes/create-scim-user.ts';
import { getScimUserRoute } from './routes/get-scim-user.ts';
import { putScimUserRoute } from './routes/put-scim-user.ts';
import { patchScimUserRoute } from './routes/patch-scim-user.ts';
import { deleteScimUserRoute } from './routes/delete-scim-user.ts';
import { listScimGroupsRoute } from './routes/list-scim-groups.ts';
import { createScimGroupRoute } from './routes/create-scim-group.ts';
import { getScimGroupRoute } from './routes/get-scim-group.ts';
import { putScimGroupRoute } from './routes/put-scim-group.ts';
import { patchScimGroupRoute } from './routes/patch-scim-group.ts';
import { deleteScimGroupRoute } from './routes/delete-scim-group.ts';

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
