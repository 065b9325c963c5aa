import {
  createComplianceReport,
  createScimToken,
  getBillingAccount,
  getComplianceReport,
  getEntitlements,
  getIdentity,
  getInvoice,
  getUsage,
  grantOrgCredit,
  listAdministeredOrgs,
  listBillingPlans,
  listComplianceReports,
  listInvoices,
  listLedger,
  putBudget,
  putIdentity,
  putOrgSettings,
  putSubscription,
  revokeScimToken,
  startCheckout,
} from '@countersign/contracts/commercial-gateway';
import { sessionClient } from '../api/clients.ts';

/** Routes of the commercial gateway about an organisation. They load with the pages that use them. */
export const commercial = sessionClient({
  createComplianceReport,
  createScimToken,
  getBillingAccount,
  getComplianceReport,
  getEntitlements,
  getIdentity,
  getInvoice,
  getUsage,
  grantOrgCredit,
  listAdministeredOrgs,
  listBillingPlans,
  listComplianceReports,
  listInvoices,
  listLedger,
  putBudget,
  putIdentity,
  putOrgSettings,
  putSubscription,
  revokeScimToken,
  startCheckout,
});

/** Reads that the page makes by itself. They never ask the person for a proof of presence. */
export const quiet = sessionClient({ listAdministeredOrgs }, { asksPresence: false });
