// The style sheet loads with the page, not with the console.
import '../commercial/commercial.css';

export { ProvisioningPage } from './provisioning-page.tsx';
