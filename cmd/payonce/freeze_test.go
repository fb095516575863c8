package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFreezeIsSetListedAndLiftedByCommand(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	require.Contains(t, o.run("freeze", "--tenant", "shop", "--operation", "create_refund", "--reason", "refunds look wrong", "--by", "an operator"), "payonce thaw")
	var listed []listedFreeze
	o.read(&listed, "freezes")
	require.Len(t, listed, 1)
	require.Equal(t, "shop", *listed[0].Tenant)
	require.Equal(t, "create_refund", *listed[0].Operation)
	require.Nil(t, listed[0].Account)
	require.Contains(t, o.run("freezes"), "refunds look wrong")
	require.ErrorContains(t, o.refused("freeze", "--operation", "create_wallet", "--reason", "why", "--by", "me"), "calls nobody")
	require.ErrorContains(t, o.refused("freeze", "--tenant", "nobody", "--reason", "why", "--by", "me"), "nobody")
	o.run("freeze", "--account", shop.ID, "--live", "--reason", "the bank called", "--by", "me")
	o.read(&listed, "freezes")
	require.Equal(t, "live", *listed[1].Mode)

	require.Contains(t, o.run("thaw", listed[0].Freeze.String(), "--by", "another operator"), "lifted")
	o.read(&listed, "freezes")
	require.Len(t, listed, 1)
	o.read(&listed, "freezes", "--all")
	require.Len(t, listed, 2)
	require.Equal(t, "another operator", *listed[0].LiftedBy)
}
