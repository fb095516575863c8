package notifications_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/notifications"
	"payonce/payments"
)

func TestEndpointIsListedForItsTenantAlone(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiver(t)
	id, secret := o.newEndpoint(r.URL)
	require.Regexp(t, `^whsec_[A-Za-z0-9+/]{43}=$`, secret)

	endpoints, err := notifications.List(context.Background(), o.pool, o.tenant)
	require.NoError(t, err)
	require.Len(t, endpoints, 1)
	require.Equal(t, id, endpoints[0].ID)
	require.Equal(t, r.URL, endpoints[0].URL)
	require.Nil(t, endpoints[0].DisabledAt)

	others, err := notifications.List(context.Background(), o.pool, o.newTenant("other-shop"))
	require.NoError(t, err)
	require.Empty(t, others)
}

func TestDisabledEndpointGetsNothingMore(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiver(t)
	id, _ := o.newEndpoint(r.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	require.NoError(t, notifications.Disable(context.Background(), o.pool, o.tenant, id))
	require.NoError(t, notifications.Disable(context.Background(), o.pool, o.tenant, id), "again")

	o.dispatch(o.dispatcher(patient(), r), 0)
	require.Equal(t, "parked", o.only(id).Status)
	require.Empty(t, r.deliveries())
}

func TestMessageQueuedWhileItsEndpointIsDisabledIsParkedUnsent(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	r := newReceiver(t)
	id, _ := o.newEndpoint(r.URL)
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	o.exec("UPDATE payonce.notification_endpoints SET disabled_at = payonce.clock() WHERE id = $1", id) // the other transaction's view
	o.dispatch(o.dispatcher(patient(), r), 1)
	require.Equal(t, "receiver: the endpoint is disabled", *o.only(id).LastError)
	require.Equal(t, "parked", o.only(id).Status)
	require.Empty(t, r.deliveries())
}

func TestEndpointOfAnotherTenantCannotBeDisabled(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	id, _ := o.newEndpoint(newReceiver(t).URL)
	for _, tenant := range []payments.TenantID{o.newTenant("other-shop"), {UUID: uuid.New()}} {
		require.ErrorIs(t, notifications.Disable(context.Background(), o.pool, tenant, id), notifications.ErrNoEndpoint)
	}
}
